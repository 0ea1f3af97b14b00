import {
  Component,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { messageOf } from '../api/client.js'
import { connection } from '../api/connection.js'
import { signOut } from '../api/session.js'
import { useSpace } from '../api/space.js'
import { type ConsolePage, PAGES } from '../pages.js'
import { navigate, pageHref, setQuery, useRoute } from '../router.js'
import { Button, classes, IconButton, Link } from '../ui/button.js'
import { Icon } from '../ui/icon.js'
import { Empty, Notice, Skeleton } from '../ui/state.js'
import { Toasts } from '../ui/toast.js'
import { useRestoredFocus } from './focus.js'
import { Help } from './help.js'
import { useShortcuts } from './keys.js'
import { Palette } from './palette.js'
import { useTheme } from './theme.js'

const ICON = new URL('../icon.svg', import.meta.url).href

/** Frame of all pages: navigation, space picker, banners. */
export function Shell() {
  const { page: id } = useRoute()
  const [isNavOpen, openNav] = useState(false)
  const [dialog, setDialog] = useState<'palette' | 'help'>()
  const page = PAGES.find((known) => known.id === id)
  const openPalette = () => setDialog('palette')
  const openHelp = useCallback(() => setDialog('help'), [])
  const close = () => setDialog(undefined)
  useShortcuts({ palette: openPalette, help: openHelp })
  useRestoredFocus()
  useEffect(() => {
    if (id === '') navigate(pageHref(PAGES[0]?.id ?? 'spaces'), { replace: true })
    document.title = page === undefined ? 'Knowledge Spaces' : `${page.title} · Knowledge Spaces`
    openNav(false)
  }, [id, page])

  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Navigation current={id} isOpen={isNavOpen} onClose={() => openNav(false)} onHelp={openHelp} />
      <div className="column">
        <header className="bar">
          <IconButton
            icon="menu"
            label="Pages"
            className="bar-menu"
            aria-expanded={isNavOpen}
            onClick={() => openNav(!isNavOpen)}
          />
          {page?.ofSpace === true ? <SpacePicker /> : <span className="bar-title">{page?.title}</span>}
          <button type="button" className="bar-search" onClick={openPalette}>
            <Icon name="search" size={16} />
            <span className="bar-search-words">Go to or do</span>
            <kbd>{isMac() ? '⌘' : 'Ctrl'} K</kbd>
          </button>
        </header>
        <ConnectionBanner />
        <main id="content" className="content" tabIndex={-1}>
          <PageBody page={page} isKnown={page !== undefined || id === ''} />
        </main>
      </div>
      {dialog === 'palette' && <Palette onClose={close} onHelp={openHelp} />}
      {dialog === 'help' && <Help onClose={close} />}
      <Toasts />
    </div>
  )
}

function PageBody({ page, isKnown }: { page: ConsolePage | undefined; isKnown: boolean }) {
  if (page === undefined) {
    if (isKnown) return <Skeleton />
    return (
      <Empty icon="search" title="There is no such page">
        <Link className="button button-plain" to={pageHref('spaces')}>
          Go to the spaces
        </Link>
      </Empty>
    )
  }
  const { component: Body, id } = page
  return (
    <ErrorBoundary key={id}>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Body />
      </Suspense>
    </ErrorBoundary>
  )
}

interface NavigationProps {
  current: string
  /** in a narrow window the navigation overlays the page */
  isOpen: boolean
  onClose: () => void
  onHelp: () => void
}

function Navigation({ current, isOpen, onClose, onHelp }: NavigationProps) {
  const { theme, cycle } = useTheme()
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const opener = document.activeElement
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      onClose()
      if (opener instanceof HTMLElement) opener.focus()
    }
    nav.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOpen, onClose])
  return (
    <>
      {isOpen && <button type="button" className="nav-shade" aria-label="Close the navigation" onClick={onClose} />}
      <nav ref={nav} className={classes('nav', isOpen && 'nav-open')} aria-label="Pages">
        <Link className="nav-brand" to={pageHref('spaces')}>
          <img src={ICON} alt="" width="26" height="26" />
          <span>Knowledge Spaces</span>
        </Link>
        <ul className="nav-list">
          {PAGES.map(({ id, title, icon }) => (
            <li key={id}>
              <Link
                className="nav-link"
                to={pageHref(id)}
                aria-current={id === current ? 'page' : undefined}
                onClick={onClose}
              >
                <Icon name={icon} />
                <span>{title}</span>
              </Link>
            </li>
          ))}
        </ul>
        <div className="nav-foot">
          <button type="button" className="nav-link" onClick={cycle}>
            <Icon name={theme === 'auto' ? 'auto' : theme === 'light' ? 'sun' : 'moon'} />
            <span>{theme === 'auto' ? 'System theme' : theme === 'light' ? 'Light theme' : 'Dark theme'}</span>
          </button>
          <button
            type="button"
            className="nav-link"
            onClick={() => {
              onClose()
              onHelp()
            }}
          >
            <Icon name="help" />
            <span>Keyboard shortcuts</span>
          </button>
          <button type="button" className="nav-link" onClick={signOut}>
            <Icon name="leave" />
            <span>Sign out</span>
          </button>
        </div>
      </nav>
    </>
  )
}

function SpacePicker() {
  const { space, spaces, select } = useSpace()
  const { query } = useRoute()
  const isNamed = query.has('space')
  useEffect(() => {
    // the URL names its space so that it can be bookmarked and shared
    if (!isNamed && space !== undefined) setQuery({ space: space.slug }, { replace: true })
  }, [isNamed, space])
  if (space === undefined) return <span className="bar-title" />
  return (
    <label className="space-picker">
      <span className="sr-only">Space</span>
      <select className="select" value={space.slug} onChange={(event) => select(event.target.value)}>
        {spaces.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Banner while the daemon is unreachable; the page stays as it is and continues when it is back. */
function ConnectionBanner() {
  const isAway = useSyncExternalStore(connection.subscribe, connection.isAway)
  if (!isAway) return null
  return (
    <div className="banner" role="alert">
      <Icon name="warning" />
      <p>
        The daemon does not answer. <code>ks daemon start</code> starts it; this page reconnects automatically.
      </p>
    </div>
  )
}

/** Shows the error of a page that fails to render; the frame stays. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const reloadButton = (
      <Button small icon="refresh" onClick={() => location.reload()}>
        Reload
      </Button>
    )
    return (
      <Notice tone="bad" action={reloadButton}>
        <p>This page could not be displayed: {messageOf(error)}</p>
      </Notice>
    )
  }
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.userAgent)
}
