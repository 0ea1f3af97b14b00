import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import { formatMoment } from '../../ui/format.js'
import { currentThemeKey, resolveColour, subscribeToTheme } from '../../ui/theme-colours.js'

export interface RunPoint {
  id: string
  startedAt: string
  passed: number | undefined
  recall: number | undefined
}

const HEIGHT = 220

interface PlotProps {
  /** oldest first */
  points: readonly RunPoint[]
  onChoose: (id: string) => void
}

/** Chart of runs over time. Hidden from screen readers: the list below has the same values. */
export function Plot({ points, onChoose }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const latestOnChoose = useRef(onChoose)
  latestOnChoose.current = onChoose
  const theme = useSyncExternalStore(subscribeToTheme, currentThemeKey)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read from the page
  useEffect(() => {
    const { current } = frame
    if (current === null || points.length === 0) return
    const plot = new uPlot(
      createOptions(current, points, (id) => latestOnChoose.current(id)),
      toPlotData(points),
      current,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: HEIGHT }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [points, theme])
  return <div className="plot" ref={frame} aria-hidden="true" />
}

function toPlotData(points: readonly RunPoint[]): uPlot.AlignedData {
  const percent = (fraction: number | undefined) => (fraction === undefined ? null : Math.round(fraction * 1000) / 10)
  // runs within one hour would overlap on a time axis
  return [
    points.map((_, index) => index),
    points.map(({ passed }) => percent(passed)),
    points.map(({ recall }) => percent(recall)),
  ]
}

function createOptions(frame: HTMLElement, points: readonly RunPoint[], onChoose: (id: string) => void): uPlot.Options {
  const colour = (name: string) => resolveColour(frame, name)
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const formatPercent = (_: uPlot, value: number | null) => (value === null ? '' : `${value} %`)
  const line = (label: string, stroke: string, dash?: number[]): uPlot.Series => ({
    label,
    stroke,
    width: 2,
    spanGaps: true,
    points: { show: true, size: 7, fill: stroke },
    value: formatPercent,
    ...(dash === undefined ? {} : { dash }),
  })
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    scales: { x: { time: false, range: [-0.5, Math.max(points.length - 0.5, 0.5)] }, y: { range: [0, 105] } },
    // the table below shows the values
    legend: { live: false },
    cursor: { y: false, drag: { x: false, y: false } },
    series: [
      { label: 'Run', value: (_, index) => (index === null ? '' : formatMoment(points[index]?.startedAt ?? 0)) },
      line('Passed', colour('--accent')),
      line('Recall', colour('--warn'), [6, 4]),
    ],
    axes: [
      {
        ...axis,
        // one label per run, as far as there is space
        incrs: [1, 2, 5, 10, 20, 50, 100],
        space: 84,
        values: (_, indexes) => indexes.map((index) => formatDate(points[index]?.startedAt)),
      },
      { ...axis, size: 48, values: (_, shares) => shares.map((share) => `${share} %`) },
    ],
    hooks: {
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const point = points[plot.cursor.idx ?? -1]
            if (point !== undefined) onChoose(point.id)
          }),
      ],
    },
  }
}

const dateFormat = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
})
const formatDate = (time: string | undefined) => (time === undefined ? '' : dateFormat.format(new Date(time)))
