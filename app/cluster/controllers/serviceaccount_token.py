"""Fills the Secrets that somebody makes for a lasting token of a service account, and removes those of accounts gone.

Mirrors pkg/controller/serviceaccount/tokens_controller.go: syncSecret, syncServiceAccount, generateTokenIfNeeded.
"""

from __future__ import annotations

import base64

from app.apimachinery import meta
from app.apimachinery.errors import Conflict, NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import tokens
from app.cluster.loops import Context

NAME = "serviceaccount-token-controller"
WATCHES = frozenset({"secrets", "serviceaccounts"})


def sync(context: Context) -> None:
    """Look at the token Secrets that changed, and at those of accounts that did."""
    every = [secret for secret in context.client.list("secrets") if secret.get("type") == tokens.SECRET_TYPE]
    if not every:
        return
    if not utils.first_look(context):
        secrets = {meta.key_of(change.object) for change in context.changes if change.resource == "secrets"}
        accounts = {meta.key_of(change.object) for change in context.changes if change.resource == "serviceaccounts"}
        every = [secret for secret in every if meta.key_of(secret) in secrets or _account_key(secret) in accounts]
    for secret in every:
        _sync_secret(context, secret)


def _account_key(secret: Object) -> str:
    return f"{meta.namespace_of(secret)}/{meta.annotations_of(secret).get(tokens.ACCOUNT_NAME, '')}"


def _sync_secret(context: Context, secret: Object) -> None:
    annotations, namespace = meta.annotations_of(secret), meta.namespace_of(secret)
    account = context.client.find("serviceaccounts", annotations.get(tokens.ACCOUNT_NAME) or "", namespace)
    uid = annotations.get(tokens.ACCOUNT_UID)
    if account is None or (uid and uid != account["metadata"]["uid"]):
        _delete(context, secret)
        return
    wanted = {**(secret.get("data") or {})}
    certificate = context.client.find("configmaps", "kube-root-ca.crt", namespace)
    if certificate is not None:
        wanted["ca.crt"] = _encoded(str((certificate.get("data") or {}).get("ca.crt") or ""))
    wanted["namespace"] = wanted.get("namespace") or _encoded(namespace)
    if not wanted.get("token"):
        wanted["token"] = _encoded(context.client.lasting_token(account, secret))
    marks = {tokens.ACCOUNT_NAME: meta.name_of(account), tokens.ACCOUNT_UID: account["metadata"]["uid"]}
    if wanted == secret.get("data") and marks.items() <= annotations.items():
        return
    metadata = {**secret["metadata"], "annotations": {**annotations, **marks}}
    try:
        context.client.update({**secret, "metadata": metadata, "data": wanted})
    except StatusError:
        # It is gone, has changed again or is immutable: nothing more can be done before its next change.
        return


def _delete(context: Context, secret: Object) -> None:
    try:
        context.client.delete("secrets", meta.name_of(secret), meta.namespace_of(secret), uid=secret["metadata"]["uid"])
    except (NotFound, Conflict):
        return


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
