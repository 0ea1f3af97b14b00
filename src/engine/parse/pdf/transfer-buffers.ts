/**
 * pdf.js makes fonts with `ArrayBuffer.prototype.transferToFixedLength`, which Node 20 does not have; without it a list
 * of operators ends at the first text on its page. Here it copies, which is as right, if not as quick.
 */
export function transferBuffers(): void {
  if ('transferToFixedLength' in ArrayBuffer.prototype) return
  Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
    configurable: true,
    writable: true,
    value(this: ArrayBuffer, length?: number): ArrayBuffer {
      const moved = new ArrayBuffer(length ?? this.byteLength)
      new Uint8Array(moved).set(new Uint8Array(this).subarray(0, moved.byteLength))
      return moved
    },
  })
}
