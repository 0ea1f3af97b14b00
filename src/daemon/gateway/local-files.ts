import { KsError } from '../../contract/errors.js'
import type { KeptWatch, localFilesRoutes, Watch } from '../../contract/gateway/local-files.js'
import type { HandlerDeps, Handlers } from '../operation.js'
import { checkFolder } from '../watch/folder.js'

/** Only the owner of the data directory may name paths of this machine. */
export function localFilesHandlers({ engine, watching, dataDir }: HandlerDeps) {
  const { localFiles, spaces } = engine
  const admit = (operator: boolean) => {
    if (!operator) throw new KsError('scope-missing', 'only the operator of this daemon may speak of its files')
    if (!watching.allowed)
      throw new KsError('not-configured', 'a daemon that serves others than its own machine looks at no local files')
  }
  const shown = (watch: KeptWatch): Watch => ({ ...watch, ...(watching.stateOf(watch.id) ?? { state: 'starting' }) })
  return {
    listLocalFiles: async ({ caller, params, query, operator }) => {
      await spaces.get(caller, params.id)
      admit(operator)
      return localFiles.list(caller, params.id, query)
    },
    recordLocalFiles: async ({ caller, params, body, operator }) => {
      await spaces.get(caller, params.id)
      admit(operator)
      return localFiles.record(caller, params.id, body)
    },
    listWatches: async ({ caller, operator }) => {
      admit(operator)
      return { items: (await localFiles.watches(caller.tenant)).map(shown) }
    },
    addWatch: async ({ caller, body, operator }) => {
      admit(operator)
      await spaces.get(caller, body.knowledgeSpaceId)
      checkFolder(body.folder, dataDir)
      const watch = await localFiles.addWatch(caller, body, shown)
      watching.changed(body.acceptMissing ? watch.id : undefined)
      return shown(watch)
    },
    removeWatch: async ({ caller, params, operator }) => {
      admit(operator)
      await localFiles.removeWatch(caller, params.watchId)
      watching.changed()
      return undefined
    },
  } satisfies Handlers<typeof localFilesRoutes>
}
