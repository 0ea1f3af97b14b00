import { dirname } from 'node:path'
import { KsError } from '../../contract/errors.js'
import type { localFilesRoutes, StoredWatch, Watch } from '../../contract/gateway/local-files.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'
import { assertNotProtected, assertWatchable } from '../watch/folder.js'

/** Only the owner of the data directory may use paths of this machine. */
export function localFilesHandlers({ engine, watching, findProtectedFiles }: HandlerDeps) {
  const { localFiles, spaces } = engine
  const assertAllowed = () => {
    if (!watching.allowed)
      throw new KsError('not-configured', 'a daemon that serves other machines does not read local files')
  }
  const toWatch = (watch: StoredWatch): Watch => ({
    ...watch,
    ...(watching.stateOf(watch.id) ?? { state: 'starting' }),
  })
  return {
    listLocalFiles: async ({ caller, params, query }) => {
      await spaces.get(caller, params.id)
      assertAllowed()
      return localFiles.list(caller, params.id, query)
    },
    recordLocalFiles: async ({ caller, params, body }) => {
      await spaces.get(caller, params.id)
      assertAllowed()
      const protectedFiles = findProtectedFiles()
      // Each folder is checked once: a request may contain a thousand files.
      const folders = new Set([body.root, ...body.files.map(({ path }) => dirname(path))])
      for (const path of folders) if (path !== undefined) assertNotProtected(path, protectedFiles)
      return localFiles.record(caller, params.id, body)
    },
    listWatches: async ({ caller }) => {
      assertAllowed()
      return { items: (await localFiles.watches(caller.tenant)).map(toWatch) }
    },
    addWatch: async ({ caller, body }) => {
      assertAllowed()
      await spaces.get(caller, body.knowledgeSpaceId)
      assertWatchable(body.folder, findProtectedFiles())
      const watch = await localFiles.addWatch(caller, body, toWatch)
      watching.changed(body.acceptMissing ? watch.id : undefined)
      return toWatch(watch)
    },
    removeWatch: async ({ caller, params }) => {
      assertAllowed()
      await localFiles.removeWatch(caller, params.watchId)
      watching.changed()
    },
  } satisfies RouteHandlers<typeof localFilesRoutes>
}
