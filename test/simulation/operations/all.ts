import type { Operation } from './context.js'
import { documentOperations } from './documents.js'
import { spaceOperations } from './spaces.js'
import { workspaceOperations } from './workspaces.js'

/** Every operation by its name. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...spaceOperations,
  ...documentOperations,
  ...workspaceOperations,
}

/** How often each is drawn. */
export const WEIGHTS: Readonly<Record<string, number>> = {
  ...{ createSpace: 2, patchSpace: 4, deleteSpace: 1, getSpace: 3, checkSpaces: 2 },
  ...{ upload: 10, uploadAgain: 4, uploadBulk: 5, deleteDocuments: 7, reindex: 2 },
  ...{ getDocument: 6, listDocuments: 4, search: 5, query: 3 },
  ...{ writeOwn: 9, writeShared: 8, append: 3, removeOwn: 4, removeShared: 4, move: 6, removeFolder: 2 },
  ...{ readOwn: 5, readShared: 6, listFiles: 4 },
}
