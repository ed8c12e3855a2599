# The image is built by the same make targets as a checkout: first everything in a builder, then only what runs.
FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /lab
COPY Makefile pyproject.toml requirements.txt README.md ./
COPY frontend frontend
COPY app app
COPY static static
RUN make setup && rm -rf frontend/node_modules

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --create-home --home-dir /data lab
WORKDIR /lab
COPY --from=build /lab /lab
COPY exercises exercises
COPY templates templates
COPY alembic alembic
ENV CKA_LAB_HOME=/data CKA_LAB_HOST=0.0.0.0 PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["/lab/.venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz')"]
CMD ["/lab/.venv/bin/cka-lab", "serve"]
