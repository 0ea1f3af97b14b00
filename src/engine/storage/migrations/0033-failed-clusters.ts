/** Failed queries wait for the search of their cluster, which is made behind their answers. */
export const FAILED_CLUSTERS_SCHEMA = `
-- 1: stands in a cluster of its own until it is compared with the others
ALTER TABLE failed_queries ADD COLUMN unclustered INTEGER NOT NULL DEFAULT 0 CHECK (unclustered IN (0, 1));
CREATE INDEX failed_queries_unclustered ON failed_queries (space_key, id) WHERE unclustered = 1;
`
