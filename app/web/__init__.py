"""The web application: routes, templates, sessions, security headers."""
