import { dirname } from 'node:path'
import { KsError } from '../../contract/errors.js'
import type { KeptWatch, localFilesRoutes, Watch } from '../../contract/gateway/local-files.js'
import type { HandlerDeps, Handlers } from '../operation.js'
import { checkFolder, refuseOwn } from '../watch/folder.js'

/** Only the owner of the data directory may use paths of this machine. */
export function localFilesHandlers({ engine, watching, ownFiles }: HandlerDeps) {
  const { localFiles, spaces } = engine
  const admit = () => {
    if (!watching.allowed)
      throw new KsError('not-configured', 'a daemon that serves other machines does not read local files')
  }
  const shown = (watch: KeptWatch): Watch => ({ ...watch, ...(watching.stateOf(watch.id) ?? { state: 'starting' }) })
  return {
    listLocalFiles: async ({ caller, params, query }) => {
      await spaces.get(caller, params.id)
      admit()
      return localFiles.list(caller, params.id, query)
    },
    recordLocalFiles: async ({ caller, params, body }) => {
      await spaces.get(caller, params.id)
      admit()
      const own = ownFiles()
      // Each folder is checked once: a request may contain a thousand files.
      const folders = new Set([body.root, ...body.files.map(({ path }) => dirname(path))])
      for (const path of folders) if (path !== undefined) refuseOwn(path, own)
      return localFiles.record(caller, params.id, body)
    },
    listWatches: async ({ caller }) => {
      admit()
      return { items: (await localFiles.watches(caller.tenant)).map(shown) }
    },
    addWatch: async ({ caller, body }) => {
      admit()
      await spaces.get(caller, body.knowledgeSpaceId)
      checkFolder(body.folder, ownFiles())
      const watch = await localFiles.addWatch(caller, body, shown)
      watching.changed(body.acceptMissing ? watch.id : undefined)
      return shown(watch)
    },
    removeWatch: async ({ caller, params }) => {
      admit()
      await localFiles.removeWatch(caller, params.watchId)
      watching.changed()
      return undefined
    },
  } satisfies Handlers<typeof localFilesRoutes>
}
