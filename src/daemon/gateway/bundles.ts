import { KsError } from '../../contract/errors.js'
import type { bundlesRoutes, ImportedBundle } from '../../contract/gateway/bundles.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'
import { BUNDLE_CHECKS } from './bundle-checks.js'

/** Bundles contain all data of a space, of all subjects: they require every scope. */
export function bundlesHandlers({ engine: { bundles } }: HandlerDeps) {
  return {
    // The owner of the data directory could also copy it.
    exportBundle: ({ caller, query, operator }) =>
      bundles.open(operator ? { ...caller, isDaemon: true } : caller, query.ids.split(',')),
    importBundle: async ({ caller, query, receive }) => {
      if (query.slug !== undefined && query.as !== undefined)
        throw new KsError('invalid-request', 'slug and as must not be given together')
      let imported: ImportedBundle | undefined
      await receive(async ({ content }) => {
        imported = await bundles.import(caller, content, { ...omitUndefined(query), checks: BUNDLE_CHECKS })
      })
      if (imported === undefined) throw new KsError('invalid-request', 'exactly one file must be given, received none')
      return imported
    },
  } satisfies RouteHandlers<typeof bundlesRoutes>
}
