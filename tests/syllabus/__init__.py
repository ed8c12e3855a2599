"""The syllabus as tests: one module a chapter, one test a line, played in a whole cluster."""
