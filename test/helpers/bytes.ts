/** The same bytes as a part of a larger Node buffer, at an odd offset. */
export function amongOthers(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('before '), bytes, Buffer.from(' behind')]).subarray(7, 7 + bytes.length)
}
