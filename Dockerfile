# The service and its workers in one image, from the locked requirements with their hashes checked.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY requirements/serve.lock requirements/
RUN python -m venv /app && /app/bin/pip install --require-hashes --requirement requirements/serve.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /app/bin/pip install --no-deps --no-build-isolation .

FROM python:3.11-slim
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 HITHERTO_HOST=0.0.0.0 HITHERTO_PORT=8080 HITHERTO_DATA=/data/memories
RUN useradd --system --uid 10001 --home-dir /data --create-home hitherto
USER hitherto
VOLUME /data
EXPOSE 8080
# SIGTERM finishes running requests and writes what is pending.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["python", "-c", \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=2)"]
ENTRYPOINT ["hitherto"]
CMD ["serve"]
