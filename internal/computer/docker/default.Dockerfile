# What computers are made of when a quest has no Dockerfile of its own: a small
# Debian with Python, git and what it takes to build things. The user that commands
# run as needs no entry here, and neither does the home.
FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates curl file git jq less make patch procps unzip xz-utils zip \
      gcc g++ libc6-dev pkg-config \
      python3 python3-dev python3-pip python3-venv \
 && rm -rf /var/lib/apt/lists/*
