import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { IconName } from './ui/icon.js'

export interface ConsolePage {
  /** first segment of its URL */
  id: string
  title: string
  icon: IconName
  /** whether the page shows one space, which the bar above it selects */
  hasSpacePicker: boolean
  /** keyboard shortcut, after `g` */
  key: string
  component: LazyExoticComponent<ComponentType>
}

/** The pages in the order of the navigation. Each is loaded when it is first opened. */
export const PAGES: readonly ConsolePage[] = [
  {
    id: 'spaces',
    title: 'Spaces',
    icon: 'spaces',
    hasSpacePicker: false,
    key: 's',
    component: lazy(() => import('./pages/spaces/spaces.js').then(({ Spaces }) => ({ default: Spaces }))),
  },
  {
    id: 'ask',
    title: 'Ask',
    icon: 'ask',
    hasSpacePicker: true,
    key: 'a',
    component: lazy(() => import('./pages/ask/ask.js').then(({ Ask }) => ({ default: Ask }))),
  },
  {
    id: 'documents',
    title: 'Documents',
    icon: 'documents',
    hasSpacePicker: true,
    key: 'd',
    component: lazy(() => import('./pages/documents/documents.js').then(({ Documents }) => ({ default: Documents }))),
  },
  {
    id: 'quality',
    title: 'Quality',
    icon: 'quality',
    hasSpacePicker: true,
    key: 'q',
    component: lazy(() => import('./pages/quality/quality.js').then(({ Quality }) => ({ default: Quality }))),
  },
  {
    id: 'graph',
    title: 'Graph and topics',
    icon: 'graph',
    hasSpacePicker: true,
    key: 't',
    component: lazy(() => import('./pages/graph/graph.js').then(({ Graph }) => ({ default: Graph }))),
  },
  {
    id: 'research',
    title: 'Research',
    icon: 'research',
    hasSpacePicker: true,
    key: 'r',
    component: lazy(() => import('./pages/research/research.js').then(({ Research }) => ({ default: Research }))),
  },
  {
    id: 'sources',
    title: 'Sources',
    icon: 'sources',
    hasSpacePicker: true,
    key: 'w',
    component: lazy(() => import('./pages/sources/sources.js').then(({ Sources }) => ({ default: Sources }))),
  },
  {
    id: 'operations',
    title: 'Operations',
    icon: 'operations',
    hasSpacePicker: true,
    key: 'o',
    component: lazy(() =>
      import('./pages/operations/operations.js').then(({ Operations }) => ({ default: Operations })),
    ),
  },
  {
    id: 'chat',
    title: 'Chat',
    icon: 'chat',
    hasSpacePicker: false,
    key: 'c',
    component: lazy(() => import('./pages/chat/chat.js').then(({ Chat }) => ({ default: Chat }))),
  },
]
