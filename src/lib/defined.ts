type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The entries of an object that have a value, so that optional means absent: `{ ...defined({ hint }) }`. `null` is one. */
export function defined<T extends object>(value: T): Defined<T> {
  const kept: Partial<T> = {}
  for (const key in value) if (value[key] !== undefined) kept[key] = value[key]
  // the same keys with the same values, less those without one
  return kept as Defined<T>
}
