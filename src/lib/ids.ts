import { v7, validate } from 'uuid'

/** A new UUIDv7 (RFC 9562): ids sort by the time they were made. */
export function newId(): string {
  return v7()
}

/** Whether a string is a UUID in its canonical text form. */
export function isUuid(value: string): boolean {
  return validate(value)
}
