# catalog.py: keeps a copy of the catalog in SQLite. pip install duckdb
import csv, gzip, json, os, shutil, sqlite3, time, urllib.error, urllib.parse, urllib.request

BASE = os.environ.get('BASE', 'http://127.0.0.1:8080/v1')
COLUMNS = ['distid', 'stockid', 'distsku', 'upc', 'name', 'mfg_name', 'product_class', 'ffl_req', 'unit_price', 'shipping_cost',
           'map_price', 'retail_price', 'qty_on_hand', 'drop_ship_flg', 'images', 'description']
SCHEMA = f'''
CREATE TABLE IF NOT EXISTS offer ({', '.join(COLUMNS)}, load INTEGER, PRIMARY KEY (distid, stockid));
CREATE TABLE IF NOT EXISTS attribute (upc, distid, name, value);
CREATE INDEX IF NOT EXISTS attribute_upc ON attribute (upc);
CREATE TABLE IF NOT EXISTS catalog (export_version, load INTEGER)'''


def read_parquet(path):
    """The rows of the file, as dicts, some thousand at a time."""
    import duckdb
    table = duckdb.sql(f"FROM read_parquet('{path}')")
    while rows := table.fetchmany(16384):
        yield from (dict(zip(table.columns, row)) for row in rows)


def descriptor(last):
    """The export's descriptor; None when the last call is less than 20 minutes ago."""
    query = urllib.parse.urlencode({'include_attributes': 'true', 'last_version': last})
    request = urllib.request.Request(f'{BASE}/products/catalog?{query}', headers={'x-api-key': os.environ['KEY']})
    for attempt in range(1, 6):
        try:
            return json.load(urllib.request.urlopen(request))['data']
        except urllib.error.HTTPError as refused:
            error = json.load(refused)['error']
            if error['code'] == 'catalog_polled_too_early':
                return None
            if refused.code not in (429, 500, 503) or attempt == 5:
                raise SystemExit(f"{error['code']}: {error['message']}")
            time.sleep(int(refused.headers.get('Retry-After') or 2 ** attempt))


def download(url, path):
    """Without the key: the URL is signed."""
    with urllib.request.urlopen(url) as answer, open(path, 'wb') as file:
        shutil.copyfileobj(answer, file)


def load(db, data, number):
    """Upserts by (distid, stockid), deletes what is gone, and notes the version: all of it, or nothing."""
    names = COLUMNS + ['load']
    upsert = (f"INSERT INTO offer ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)}) "
              f"ON CONFLICT (distid, stockid) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in names)}")
    count = 0
    with db:
        for row in read_parquet('catalog.parquet'):
            # retail_price is a column only where the configuration asks for retail prices.
            offer = {name: row.get(name) for name in COLUMNS}
            db.execute(upsert, {**offer, 'images': json.dumps(offer['images']), 'load': number})
            count += 1
        if count != data['rows']:
            raise SystemExit(f"the file has {count} rows, not {data['rows']}")
        gone = db.execute('DELETE FROM offer WHERE load <> ?', [number]).rowcount
        db.execute('DELETE FROM attribute')
        with gzip.open('attributes.csv.gz', 'rt', newline='', encoding='utf-8') as feed:
            records = csv.reader(feed)
            next(records)
            attributes = db.executemany('INSERT INTO attribute VALUES (?, ?, ?, ?)', records).rowcount
        db.execute('DELETE FROM catalog')
        db.execute('INSERT INTO catalog VALUES (?, ?)', [data['export_version'], number])
    print(f"{count} offers, {gone} gone, {attributes} attributes, version {data['export_version']}")


def main():
    db = sqlite3.connect(os.environ.get('DB', 'shop.db'))
    db.executescript(SCHEMA)
    last, number = db.execute('SELECT export_version, load FROM catalog').fetchone() or ('', 0)
    data = descriptor(last)
    if data is None or not data['changed']:
        print('too early' if data is None else 'nothing has changed')
        return
    download(data['url'], 'catalog.parquet')
    download(data['attributes_feed']['url'], 'attributes.csv.gz')
    load(db, data, number + 1)


if __name__ == '__main__':
    main()
