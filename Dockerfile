# The server as a container, for amd64 and arm64: docker buildx build --platform linux/amd64,linux/arm64 .
# The image is the release (scripts/bundle/release.mjs) on Debian: it brings its own Node.

FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
# Set by the builder; what is built for another machine is only put together here, not run.
ARG TARGETARCH
WORKDIR /src
COPY package.json package-lock.json ./
COPY lib/db/by-node lib/db/by-node
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:release -- --arch "$TARGETARCH" --folder /opt/quartermaster

FROM debian:bookworm-slim
RUN groupadd --gid 10001 quartermaster \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin quartermaster \
  && install -d -o quartermaster -g quartermaster -m 0700 /data
COPY --from=build /opt/quartermaster /opt/quartermaster
# So that `docker exec CONTAINER quartermaster feeds status` is all one has to type.
RUN ln -s /opt/quartermaster/quartermaster /usr/local/bin/quartermaster
ENV QUARTERMASTER_DIR=/data
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=2m --retries=3 \
  CMD ["/opt/quartermaster/node", "-e", "fetch('http://127.0.0.1:9464/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/quartermaster/quartermaster"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
