import { TABLES } from '../../schema/tables.js'

/** Settings of a transaction from which the policies determine its tenant. */
export const TENANT_SETTING = 'ks.tenant'
export const DEPLOYMENT_SETTING = 'ks.deployment'

/** Tables that every transaction sees, with the reasons. */
export const SHARED_TABLES: Readonly<Record<string, string>> = {
  schema_version: 'the schema is read before the tenant is known',
  deployment: 'what all gateways have in common is compared before the tenant is known',
  ...Object.fromEntries(Object.entries(TABLES).flatMap(([name, { shared }]) => (shared ? [[name, shared]] : []))),
}

/**
 * `isolate` restricts a table to the tenant: a transaction reads and writes the rows of its tenant, or all rows if it
 * belongs to the deployment; also as the owner of the tables, which is the role of the gateways. Adds the column `tenant`
 * where it is missing; its default is the tenant of the transaction or, for the deployment, that of the space. Each
 * setting is read once per statement. The condition is `IS NOT NULL`, so that the planner rightly expects nearly all rows
 * to match: statements select by tenant or row key anyway. With `tenant = …` in each table of a join, the planner reads
 * complete spaces for one page. Migrations call it for each new table.
 */
export const ISOLATE = `
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
