/** The settings of a transaction by which the policies know whose it is. */
export const TENANT_SETTING = 'ks.tenant'
export const DEPLOYMENT_SETTING = 'ks.deployment'

/** Tables that every transaction sees, by the reason. */
export const SHARED_TABLES: Readonly<Record<string, string>> = {
  schema_version: 'the schema is read before anybody is known',
  store: 'it is of the deployment, and read before anybody is known',
  deployment: 'what all gateways have alike, compared before anybody is known',
  gateways: 'they are of the deployment, and what they hold is looked up in every tenant',
  held_leases: 'they are of gateways, which tell of those of all tenants together; statements name the space',
  revoked_tokens: 'a token is refused before its tenant is believed',
  node_keys: 'one counter for the passages of all',
}

/**
 * A transaction sees and writes the rows of its tenant, or of all where it is one of the deployment, and no others: also
 * for the owner of the tables, who is the role that gateways connect with. A table whose keys name no tenant gets the
 * column, which an insert need not name: it is the tenant of the transaction, or, where the deployment inserts, that of the
 * space. Each setting is read once a statement. That the condition is asked for as `IS NOT NULL` makes the planner expect that
 * it keeps nearly all rows, as it does: a statement names its tenant, or a row key, anyway. What it expects of `tenant = …`
 * in each table of a join makes it read whole spaces for a page of one.
 */
const ISOLATE = `
CREATE FUNCTION tenant_of_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.tenant := (SELECT tenant FROM spaces WHERE key = NEW.space_key);
  RETURN NEW;
END $$;
CREATE FUNCTION isolate(name regclass) RETURNS void LANGUAGE plpgsql AS $$ DECLARE
  columns text[] := ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = name AND attnum > 0 AND NOT attisdropped);
BEGIN
  IF NOT 'tenant' = ANY (columns) THEN
    EXECUTE format('ALTER TABLE %s ADD tenant text NOT NULL DEFAULT nullif(current_setting(''${TENANT_SETTING}'', true), '''')', name);
    IF 'space_key' = ANY (columns) THEN
      EXECUTE format('CREATE TRIGGER tenant_of_space BEFORE INSERT ON %s FOR EACH ROW WHEN (NEW.tenant IS NULL)
        EXECUTE FUNCTION tenant_of_space()', name);
    END IF;
  END IF;
  EXECUTE format('CREATE POLICY of_tenant ON %s USING (nullif(tenant = (SELECT current_setting(''${TENANT_SETTING}'', true))
    OR (SELECT current_setting(''${DEPLOYMENT_SETTING}'', true)) = ''on'', false) IS NOT NULL)', name);
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
END $$;
`

/** Indexes that statements are answered from alone, for which the policy asks too. */
export const WITH_TENANT: readonly string[] = ['nodes_place', 'versions_at', 'versions_live', 'versions_visible']

/** Stands behind the tables of the baseline; a later one is put behind its tenant by `SELECT isolate('name')`. */
export const ISOLATION = `${ISOLATE}
DO $$ DECLARE found regclass; BEGIN
  FOR found IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    AND relname NOT IN (${Object.keys(SHARED_TABLES)
      .map((table) => `'${table}'`)
      .join(', ')})
  LOOP PERFORM isolate(found); END LOOP;
END $$;
DO $$ DECLARE found regclass; made text; BEGIN
  FOREACH found IN ARRAY '{${WITH_TENANT}}'::regclass[] LOOP
    made := pg_get_indexdef(found);
    EXECUTE format('DROP INDEX %s', found);
    EXECUTE made || ' INCLUDE (tenant)';
  END LOOP;
END $$;
`
