import type { fsRoutes } from '../../contract/gateway/fs.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function fsHandlers({ engine: { fs } }: HandlerDeps) {
  return {
    fsLs: ({ caller, params, query }) => fs.ls(caller, params.id, query),
    fsTree: ({ caller, params, query }) => fs.tree(caller, params.id, query),
    fsGrep: ({ caller, params, query }) => fs.grep(caller, params.id, query),
    fsFind: ({ caller, params, query }) => fs.find(caller, params.id, query),
    fsWrite: ({ caller, params, body }) => fs.write(caller, params.id, body),
    fsMv: ({ caller, params, body }) => fs.mv(caller, params.id, body),
    fsRm: ({ caller, params, query }) => fs.rm(caller, params.id, query),
    fsCat: ({ caller, params, query }) => fs.cat(caller, params.id, query),
  } satisfies RouteHandlers<typeof fsRoutes>
}
