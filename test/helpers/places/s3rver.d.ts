declare module 's3rver' {
  import type { AddressInfo } from 'node:net'

  interface Options {
    address: string
    port: number
    silent: boolean
    directory: string
    configureBuckets: { name: string; configs: string[] }[]
  }
  interface Context {
    method: string
    url: string
  }
  // biome-ignore lint/style/noDefaultExport: it is how the package exports it
  export default class S3rver {
    constructor(options: Options)
    middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[]
    run(done: (error: Error | null | undefined, address: AddressInfo) => void): void
    close(done: () => void): void
  }
}
