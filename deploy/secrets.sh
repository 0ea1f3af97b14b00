#!/bin/bash
# Makes the keys and passwords of compose.yaml, each only where it is not there yet: deploy/secrets.sh [FOLDER]
set -euo pipefail
folder=${1:-$(cd "$(dirname "$0")" && pwd)/secrets}
# containers read them as users of their own, so that the folder is what keeps others out
umask 022
mkdir -p "$folder"
chmod 0700 "$folder"

word() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }

for name in postgres-admin postgres-ks postgres-replication signing.key data.key; do
  [ -e "$folder/$name" ] || word > "$folder/$name"
done
if [ ! -e "$folder/s3-credentials" ]; then
  id=$(word | cut -c 1-20)
  secret=$(word)
  printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$id" "$secret" > "$folder/s3-credentials"
  printf '{"identities":[{"name":"ks","credentials":[{"accessKey":"%s","secretKey":"%s"}],"actions":["Admin","Read","Write","List"]}]}\n' \
    "$id" "$secret" > "$folder/s3-server.json"
fi
