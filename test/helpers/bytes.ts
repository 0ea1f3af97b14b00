/** The same bytes as a part of a buffer that holds others, too: at an odd place, and of Node's own kind. */
export function amongOthers(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('before '), bytes, Buffer.from(' behind')]).subarray(7, 7 + bytes.length)
}
