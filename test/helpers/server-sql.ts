import { createPostgresDialect } from '../../src/engine/store/dialect.js'

const dialect = createPostgresDialect()

/**
 * Translates SQL of SQLite in tests for a server. Beyond the dialect of the product it supports what only tests use:
 * zeroed bytes of a length, and triggers that refuse or change writes.
 */
export function toServerStatements(text: string): string[] {
  return splitStatements(text).flatMap((one) => translateTrigger(one) ?? [dialect.translate(translateZeroblob(one))])
}

function translateZeroblob(text: string): string {
  return text.replace(/\bzeroblob\((length\(\w+\)|\d+)\)/g, "decode(repeat('00', CAST($1 AS integer)), 'hex')")
}

/** Splits at each semicolon outside of a trigger. */
function splitStatements(text: string): string[] {
  const found = text.match(/\s*CREATE TRIGGER[\s\S]*?\bEND\b|(?:'[^']*'|[^;'])+/g) ?? []
  return found.map((one) => one.trim()).filter((one) => one !== '')
}

const TRIGGER =
  /^CREATE TRIGGER (\w+)\s+(BEFORE|AFTER)\s+(INSERT|DELETE|UPDATE(?: OF \w+)?)\s+ON (\w+)\s+(?:WHEN ([\s\S]*?)\s+)?BEGIN\s+([\s\S]*?)\s*;?\s*END$/

/** A trigger of SQLite becomes a trigger and a function of the same name. */
function translateTrigger(text: string): string[] | undefined {
  const dropped = /^DROP TRIGGER (IF EXISTS )?(\w+)$/.exec(text)
  if (dropped !== null) return [`DROP FUNCTION ${dropped[1] ?? ''}${dropped[2]} CASCADE`]
  const made = TRIGGER.exec(text)
  if (made === null) return undefined
  const [, name, time, event, table, when = 'true', body = ''] = made
  const steps = splitStatements(body).map((step) => {
    const refusal = /^SELECT RAISE\(ABORT, ('[^']*')\)$/.exec(step)
    return refusal === null ? dialect.translate(step) : `RAISE EXCEPTION ${refusal[1]}`
  })
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $trigger$ BEGIN
       IF ${dialect.translate(when)} THEN ${steps.join('; ')}; END IF;
       IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
       RETURN NEW;
     END $trigger$`,
    `CREATE TRIGGER ${name} ${time} ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ]
}
