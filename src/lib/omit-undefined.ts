type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/**
 * A copy of an object without its `undefined` members, so that optional means absent: `{ ...omitUndefined({ hint }) }`.
 * `null` stays.
 */
export function omitUndefined<T extends object>(value: T): WithoutUndefined<T> {
  const kept: Partial<T> = {}
  for (const key in value) if (value[key] !== undefined) kept[key] = value[key]
  // Only keys without a value are removed.
  return kept as WithoutUndefined<T>
}
