import { chatOperations } from './chat.js'
import type { Operation } from './context.js'
import { documentOperations } from './documents.js'
import { qualityOperations } from './quality.js'
import { researchOperations } from './research.js'
import { settingOperations } from './settings.js'
import { siteOperations } from './site.js'
import { spaceOperations } from './spaces.js'
import { upkeepOperations } from './upkeep.js'
import { workspaceOperations } from './workspaces.js'

/** Every operation by its name. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...spaceOperations,
  ...documentOperations,
  ...workspaceOperations,
  ...qualityOperations,
  ...settingOperations,
  ...upkeepOperations,
  ...researchOperations,
  ...chatOperations,
  ...siteOperations,
}

/** The weight of each operation. */
export const WEIGHTS: Readonly<Record<string, number>> = {
  createSpace: 2,
  patchSpace: 4,
  deleteSpace: 1,
  getSpace: 3,
  checkSpaces: 2,
  upload: 10,
  uploadAgain: 4,
  uploadBulk: 5,
  deleteDocuments: 7,
  reindex: 2,
  getDocument: 6,
  listDocuments: 4,
  search: 12,
  query: 3,
  writeOwn: 9,
  writeShared: 8,
  append: 3,
  removeOwn: 4,
  removeShared: 4,
  move: 6,
  removeFolder: 2,
  readOwn: 5,
  readShared: 6,
  listFiles: 4,
  addQuestion: 5,
  changeQuestion: 4,
  annotate: 2,
  removeQuestion: 2,
  listQuestions: 2,
  badCase: 2,
  changeRetention: 3,
  changeProfile: 3,
  readSettings: 3,
  addSource: 3,
  changeSource: 5,
  removeSource: 1,
  collect: 2,
  inspect: 2,
  askFor: 3,
  freeze: 3,
  readSnapshot: 2,
  removeSnapshot: 1,
  replay: 1,
  startResearch: 1,
  readResearch: 1,
  say: 6,
  sayAndStop: 2,
  readChat: 3,
  listChats: 2,
  renameChat: 2,
  deleteChat: 1,
  rate: 2,
  changePage: 5,
  crawl: 3,
  readSite: 2,
  searchSite: 2,
}
