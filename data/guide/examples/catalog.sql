-- catalog.sql: loads catalog.parquet and attributes.csv.gz. All of it, or nothing.
BEGIN;

CREATE TABLE IF NOT EXISTS offer AS FROM read_parquet('catalog.parquet') LIMIT 0;

-- What search, pages and prices stand on is updated in place, by (distid, stockid).
MERGE INTO offer USING (FROM read_parquet('catalog.parquet')) AS fresh
  ON offer.distid = fresh.distid AND offer.stockid = fresh.stockid
  WHEN MATCHED THEN UPDATE
  WHEN NOT MATCHED THEN INSERT
  WHEN NOT MATCHED BY SOURCE THEN DELETE;

CREATE OR REPLACE TABLE attribute AS
  FROM read_csv('attributes.csv.gz', header = true, all_varchar = true, quote = '"', escape = '"');

COMMIT;

SELECT distid, count(*) AS offers, count(*) FILTER (qty_on_hand > 0) AS in_stock, round(min(total_cost), 2) AS cheapest
  FROM offer GROUP BY distid ORDER BY distid;
