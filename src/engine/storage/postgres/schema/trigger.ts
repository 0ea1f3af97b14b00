/**
 * A trigger and the function that it runs after each row, of one name.
 *
 * @param event as in `AFTER DELETE ON versions`
 * @param body statements over OLD and NEW, each line ended by the next
 * @param condition of the row, without which the function is not run
 */
export function trigger(name: string, event: string, body: string, condition?: string): string {
  const when = condition === undefined ? '' : `\n  WHEN (${condition})`
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN${body}
  RETURN NULL;
END $$;
CREATE TRIGGER ${name} ${event} FOR EACH ROW${when} EXECUTE FUNCTION ${name}();`
}
