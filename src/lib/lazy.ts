/** Returns a function that creates a value at its first call and then returns the same value. */
export function lazy<T extends object>(make: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= make()
    return value
  }
}
