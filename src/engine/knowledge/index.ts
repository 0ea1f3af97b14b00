/** What is derived from published versions: page indexes, graph, views, statements that contradict each other. */

export { ConflictFinder } from './conflicts/finder.js'
export { listSpaceConflicts } from './conflicts/list.js'
export { judgeWithModel } from './conflicts/model-judge.js'
export { countUnread, Derivations, describeUnread } from './derived/derivation.js'
export { ENTITY_TYPES, type ExtractedEntityType } from './derived/graph/entities.js'
export { type IndexedRange, lookUpTerm, parseProfile } from './derived/page-index/build.js'
export { PageIndexer } from './derived/page-index/indexer.js'
export { measureComponents } from './derived/page-index/measures.js'
export { readRanges } from './derived/page-index/store.js'
export {
  asksForFigures,
  toCoreTerms,
  toQueryTerms,
  toTermSequence,
  type WeightedQueryTerm,
} from './derived/page-index/terms.js'
export { type AnalysedPassage, analysePassage, findContainedTerms, PassageCache, termHash } from './derived/passage.js'
export { PictureDescriber } from './derived/pictures/describer.js'
export { expandByGraph } from './graph/expand.js'
export type { GraphView } from './graph/read.js'
export { compareStatements, type QuestionFocus, type StatementRelation } from './statements/compare.js'
export { type PassageUnit, splitPassage } from './statements/passage-units.js'
export { listContentStems, readStatements, type Statement } from './statements/statements.js'
export { areTitlesOfThings } from './statements/titles.js'
export { type CheckResult, checkAnswer, createAnswerChecker, DECLINE } from './support/answer-check.js'
export { createCitationWriter } from './support/citation-marks.js'
export { type EvidenceSource, removeMarks } from './support/support.js'
export type { CoverageFunction, ViewCoverage } from './views/coverage.js'
export { createGraphServices, type GraphServices } from './views/graph-operations.js'
export { loadCommunityReport, renderReport } from './views/reports.js'
export { MAX_FIRST_WAIT_MS, SemanticViews } from './views/views.js'
