#!/bin/sh
# catalog.sh: keeps a copy of the catalog in a DuckDB file. Needs curl and the duckdb command.
set -eu
BASE=${BASE:-http://127.0.0.1:8080/v1}
LAST=$(cat export_version 2>/dev/null || true)

# Exit code 22 is an answer of 400 or more: too early (429), or not available at this moment (503). The next run will do.
curl -sS -f -o descriptor.json -H "x-api-key: $KEY" "$BASE/products/catalog?include_attributes=true&last_version=$LAST"
field() { grep -o "\"$1\":\"[^\"]*\"" descriptor.json | cut -d '"' -f 4; }
if grep -q '"changed":false' descriptor.json; then echo 'nothing has changed'; exit 0; fi

# Two URLs: the catalog's, then the attributes'.
curl -sS -f -o catalog.parquet "$(field url | head -n 1)"
curl -sS -f -o attributes.csv.gz "$(field url | tail -n 1)"
duckdb -bail shop.duckdb < catalog.sql
field export_version > export_version
