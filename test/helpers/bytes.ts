/** Copies bytes into the middle of a larger buffer, at an odd offset, as Node's pooled buffers have it. */
export function toBufferPart(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('before '), bytes, Buffer.from(' behind')]).subarray(7, 7 + bytes.length)
}
