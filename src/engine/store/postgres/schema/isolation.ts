import { TABLES } from '../../schema/tables.js'

/** The settings of a transaction by which the policies know whose it is. */
export const TENANT_SETTING = 'ks.tenant'
export const DEPLOYMENT_SETTING = 'ks.deployment'

/** Tables that every transaction sees, by the reason. */
export const SHARED_TABLES: Readonly<Record<string, string>> = {
  schema_version: 'the schema is read before the tenant is known',
  deployment: 'what all gateways have in common is compared before the tenant is known',
  ...Object.fromEntries(Object.entries(TABLES).flatMap(([name, { shared }]) => (shared ? [[name, shared]] : []))),
}

/**
 * `isolate` puts a table behind its tenant: a transaction sees and writes the rows of its tenant, or all rows if it belongs
 * to the deployment. This includes the owner of the tables, which is the role of the gateways. A table without the column
 * `tenant` gets it. An insert need not name it: it is the tenant of the transaction or, for the deployment, the tenant of the
 * space. Each setting is read once a statement. The condition is written as `IS NOT NULL`, so that the planner expects it to
 * keep nearly all rows, which is right: statements name their tenant or a row key anyway. With `tenant = …` in each table of
 * a join, the planner reads complete spaces for a page of one. A migration calls it for each new table.
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
