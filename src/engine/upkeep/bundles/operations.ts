import { KsError } from '../../../contract/errors.js'
import { linkAbort } from '../../../lib/abort.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext } from '../../library/index.js'
import { bind } from '../../store/bind-operation.js'
import { type OpenBundle, openBundle } from './export.js'
import { type ImportOptions, importBundle } from './import.js'

/** Each export uses a connection, or blocks a log, until its reader finishes. */
const MAX_CONCURRENT_EXPORTS = 2
/** Each import stores up to a page of objects on the disk. */
const MAX_CONCURRENT_IMPORTS = 2
const RETRY_SECONDS = 30

/** Export and import of spaces. */
export function createBundleOperations(context: EngineContext) {
  const stop = new AbortController()
  const imports = new Set<Promise<unknown>>()
  const exports = new Set<() => void>()
  return {
    /** Opens a bundle, which its reader closes. @throws KsError `not-found`, `scope-missing`, `busy` */
    open: bind(async (caller: Caller, ids: readonly string[]): Promise<OpenBundle> => {
      if (exports.size >= MAX_CONCURRENT_EXPORTS) throw busyError('exports', MAX_CONCURRENT_EXPORTS)
      const link = linkAbort(stop.signal)
      let bundle: OpenBundle | undefined
      const close = () => {
        exports.delete(close)
        link.dispose()
        link.abort(stoppingError())
        bundle?.close()
      }
      exports.add(close)
      try {
        bundle = await openBundle(context, caller, ids, link.signal)
        return { bytes: bundle.bytes, close }
      } catch (error) {
        close()
        throw error
      }
    }),
    /** @throws KsError `invalid-bundle`, `id-taken`, `slug-taken`, `capacity-exceeded`, `quota-exceeded`, `busy` */
    import: bind(async (caller: Caller, source: AsyncIterable<Uint8Array>, options: Omit<ImportOptions, 'signal'>) => {
      if (imports.size >= MAX_CONCURRENT_IMPORTS) throw busyError('imports', MAX_CONCURRENT_IMPORTS)
      const link = linkAbort(stop.signal)
      const work = importBundle(context, caller, source, { ...options, signal: link.signal })
      imports.add(work)
      try {
        return await work
      } finally {
        link.dispose()
        imports.delete(work)
      }
    }),
    /** Aborts running exports and imports. */
    async close() {
      stop.abort(stoppingError())
      for (const close of [...exports]) close()
      await Promise.allSettled(imports)
    },
  }
}

function stoppingError(): KsError {
  return new KsError('unavailable', 'the daemon is stopping')
}

function busyError(what: string, max: number): KsError {
  return new KsError('busy', `at most ${max} ${what} of bundles run at once`, { retryAfter: RETRY_SECONDS })
}
