#!/bin/sh
# The S3 server of compose.yaml, and its bucket.
set -eu
weed server -dir=/data -s3 -s3.config=/run/secrets/s3-server -ip.bind=0.0.0.0 &
server=$!
until echo 's3.bucket.create -name knowledge-spaces' | weed shell 2> /dev/null | grep -q 'bucket\|exist' ||
  echo 's3.bucket.list' | weed shell 2> /dev/null | grep -q knowledge-spaces; do
  sleep 1
done
touch /tmp/bucket-is-there
wait "$server"
