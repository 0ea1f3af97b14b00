import type { CustomTypesConfig } from 'pg'

/** object ids of types, equal in every database */
const BOOL = 16
const BYTEA = 17
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]) // int8, int2, int4, float4, float8, numeric

const parsers = (toBytes: (text: string) => Buffer) => (oid: number) => {
  if (NUMBERS.has(oid)) return Number
  // a comparison is 0 or 1 in SQLite
  if (oid === BOOL) return (text: string) => (text === 't' ? 1 : 0)
  return oid === BYTEA ? toBytes : (text: string) => text
}

const HEX = '\\x'

/** Parses values as SQLite returns them: numbers, text and bytes. JSON stays text. */
export const AS_SQLITE: CustomTypesConfig = {
  // the declared type has an overload for each object id
  getTypeParser: parsers((text) => Buffer.from(text.slice(HEX.length), 'hex')) as CustomTypesConfig['getTypeParser'],
}
