/** Gives buffers the method of ES2024 that libraries use and Node.js 20 does not have. */
export function completeArrayBuffers(): void {
  if ('transferToFixedLength' in ArrayBuffer.prototype) return
  Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
    configurable: true,
    writable: true,
    value(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
      return structuredClone(this.slice(0, length))
    },
  })
}
