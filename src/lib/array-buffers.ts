/** Polyfills `transferToFixedLength` of ES2024: libraries use it, and Node.js 20 lacks it. */
export function polyfillArrayBufferTransfer(): void {
  if ('transferToFixedLength' in ArrayBuffer.prototype) return
  Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
    configurable: true,
    writable: true,
    value(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
      return structuredClone(this.slice(0, length))
    },
  })
}
