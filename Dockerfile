# The page, the watching indexer and every other command: see docs/guides/operate.md.
#
#   docker build --build-arg VERSION="$(python -m hatchling version)" --tag sat-retriever .
#
# The base is named by its tag: pin it by the digest that your registry shows
# (--build-arg PYTHON=python:3.11-slim-bookworm@sha256:…), so that a build can be repeated.
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS build
# No history is sent to the build, so the version has to be told.
ARG VERSION
# All that the services of compose.yaml need. Models run without torch.
ARG EXTRAS=encrypted,postgres,serve,sql,watch
COPY pyproject.toml hatch_build.py README.md LICENSE constraints.txt /src/
COPY sat_retriever /src/sat_retriever
RUN : "${VERSION:?give one: --build-arg VERSION=0.1.0}" \
    && python -m venv /opt/sat \
    && SETUPTOOLS_SCM_PRETEND_VERSION="${VERSION}" /opt/sat/bin/python -m pip install \
        --no-cache-dir --constraint /src/constraints.txt "/src[${EXTRAS}]"

FROM ${PYTHON}
RUN groupadd --gid 10001 sheets \
    && useradd --uid 10001 --gid sheets --home-dir /var/lib/sat --shell /usr/sbin/nologin sheets \
    && install --directory --owner sheets --group sheets --mode 0700 \
        /var/lib/sat /var/cache/sat /backups
COPY --from=build /opt/sat /opt/sat
ENV PATH=/opt/sat/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/var/cache/sat
USER 10001:10001
WORKDIR /var/lib/sat
VOLUME ["/var/lib/sat", "/var/cache/sat", "/backups"]
EXPOSE 8765
STOPSIGNAL SIGTERM
# Of the page; other commands have checks of their own in compose.yaml.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/health/ready', timeout=9)"]
ENTRYPOINT ["sat"]
CMD ["serve", "--host", "0.0.0.0", "--workers", "2", "--index", "/var/lib/sat/reports.sat", "--token-file", "/run/secrets/sat_token"]
