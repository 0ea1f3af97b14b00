/**
 * Functions of SQLite that statements use and PostgreSQL lacks, in the schema of the tables and with the same names. JSON
 * is stored as text; a path has one name or one index.
 */
export const FUNCTIONS = `
-- a text here has neither U+0000 nor half of a surrogate pair; JSON may name them, and is then read as if it named U+FFFD
CREATE FUNCTION as_json(document text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN strpos(document, '\\u0000') + strpos(document, '\\ud') = 0 THEN document::json ELSE
    regexp_replace(document, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1\\\\ufffd', 'g')::json END
$$;
CREATE FUNCTION json_path(path text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT string_to_array(ltrim(rtrim(replace(path, '[', '.'), ']'), '$.'), '.')
$$;
CREATE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document) #>> json_path(path)
$$;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_extract);
CREATE FUNCTION json_element(document text, place integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document) ->> place
$$;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = json_element);
CREATE FUNCTION json_array_length(document text, path text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT json_array_length(as_json(document) #> json_path(path))
$$;
CREATE FUNCTION json_valid(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
  PERFORM document::json;
  RETURN true;
EXCEPTION WHEN data_exception THEN
  RETURN false;
END $$;

-- the elements of a list: key is the place, value the element as text
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE AS $$
  SELECT place - 1, element FROM json_array_elements_text(as_json(list)) WITH ORDINALITY AS each(element, place)
$$;
-- the same of a list of numbers
CREATE FUNCTION json_each_number(list text) RETURNS TABLE (key bigint, value bigint) LANGUAGE sql IMMUTABLE AS $$
  SELECT place - 1, element::bigint FROM json_array_elements_text(list::json) WITH ORDINALITY AS each(element, place) OFFSET 0
$$;

-- members keep their order, and are written as SQLite writes them
CREATE FUNCTION json_set(document text, path text, put json) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{' || string_agg(to_json(name)::text || ':' || member::text, ',' ORDER BY place) || '}' FROM (
    SELECT key name, CASE WHEN key = ltrim(path, '$.') THEN put ELSE value END member, place
      FROM json_each(as_json(document)) WITH ORDINALITY AS each(key, value, place)
    UNION ALL
    SELECT ltrim(path, '$.'), put, NULL
      WHERE NOT EXISTS (SELECT 1 FROM json_each(as_json(document)) held WHERE held.key = ltrim(path, '$.'))) members
$$;
CREATE FUNCTION json_set(document text, path text, put text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_set(document, path, coalesce(to_json(put), 'null'::json))
$$;
CREATE FUNCTION json_set(document text, path text, put bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_set(document, path, coalesce(to_json(put), 'null'::json))
$$;
CREATE FUNCTION json_remove(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce('{' || string_agg(to_json(key)::text || ':' || value::text, ',' ORDER BY place) || '}', '{}')
    FROM json_each(as_json(document)) WITH ORDINALITY AS each(key, value, place) WHERE key <> ltrim(path, '$.')
$$;
CREATE FUNCTION json_list(elements anycompatiblearray) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT array_to_json(elements)::text
$$;
CREATE AGGREGATE json_group_array(anycompatible) (
  SFUNC = array_append, STYPE = anycompatiblearray, FINALFUNC = json_list, INITCOND = '{}'
);

CREATE FUNCTION json(document text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document)
$$;
CREATE FUNCTION json_array_length(document text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT json_array_length(as_json(document))
$$;

-- as a cast of SQLite, which fails for nothing
CREATE FUNCTION as_integer(value text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value IS NOT NULL THEN coalesce(substring(value FROM '^\\s*([+-]?\\d{1,18})')::bigint, 0) END
$$;
CREATE FUNCTION as_integer(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT trunc(value)::bigint
$$;

CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT strpos(whole, part)::bigint
$$;
-- what SQLite tells of a table: here none has row numbers, and each has a primary key
CREATE FUNCTION pragma_table_list(table_name text) RETURNS TABLE (wr bigint) LANGUAGE sql STABLE AS $$
  SELECT 1::bigint WHERE to_regclass(quote_ident(table_name)) IS NOT NULL
$$;
CREATE FUNCTION pragma_table_info(table_name text) RETURNS TABLE (name text, pk bigint) LANGUAGE sql STABLE AS $$
  SELECT attname::text, coalesce(array_position(indkey::smallint[], attnum) + 1, 0)::bigint
    FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
    WHERE attrelid = to_regclass(quote_ident(table_name)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
$$;
-- of the database's clock
CREATE FUNCTION unixepoch(kind text) RETURNS double precision LANGUAGE sql STABLE AS $$
  SELECT extract(epoch FROM statement_timestamp())::double precision
$$;
`
