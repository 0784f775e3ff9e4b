internal import Foundation

/// A picture with two axes as SVG: lines, dots or bars. Colours are CSS classes (`s1`, `s2`), so that the page decides on light and dark.
struct Plot: Sendable {
    struct Series: Sendable {
        var name: String
        var points: [(x: Double, y: Double)]
        /// What is shown when one points at a point.
        var words: [String]
    }

    enum Kind: Sendable { case lines, dots, bars }

    var title: String
    var yUnit: String
    var xUnit: String
    var kind: Kind
    var series: [Series]
    /// Bars stand side by side whatever their x is; these are their names.
    var barNames: [String] = []

    private static let width = 640.0
    private static let height = 260.0
    private static let left = 52.0
    private static let right = 16.0
    private static let top = 14.0
    private static let bottom = 40.0

    var svg: String {
        let all = series.flatMap(\.points)
        guard !all.isEmpty else { return "<p class=\"none\">nothing was measured</p>" }
        let y = PlotScale(to: all.map(\.y).max() ?? 1)
        let x =
            kind == .bars
            ? PlotScale(to: Double(all.count))
            : PlotScale(from: kind == .dots ? 0 : all.map(\.x).min() ?? 0, to: all.map(\.x).max() ?? 1, about: 8)
        var parts = ["<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(Self.escape(title))\">"]
        for mark in y.marks {
            let at = Self.place(y.share(mark), Self.height - Self.bottom, Self.top)
            parts.append("<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(Self.width - Self.right)\" y1=\"\(at)\" y2=\"\(at)\"/>")
            parts.append("<text class=\"y\" x=\"\(Self.left - 8)\" y=\"\(at)\" dy=\"0.35em\">\(PlotScale.label(mark))</text>")
        }
        parts += kind == .bars ? bars(y) : marks(of: x) + drawn(x, y)
        parts.append("<text class=\"unit\" x=\"\(Self.width - Self.right)\" y=\"\(Self.height - 4)\">\(Self.escape(xUnit))</text></svg>")
        return parts.joined()
    }

    private func marks(of x: PlotScale) -> [String] {
        x.marks.map { mark in
            let at = Self.place(x.share(mark), Self.left, Self.width - Self.right)
            return "<text class=\"x\" x=\"\(at)\" y=\"\(Self.height - Self.bottom + 16)\">\(PlotScale.label(mark))</text>"
        }
    }

    private func drawn(_ x: PlotScale, _ y: PlotScale) -> [String] {
        series.enumerated().flatMap { index, series in
            let places = series.points.map { point in
                (
                    Self.place(x.share(point.x), Self.left, Self.width - Self.right),
                    Self.place(y.share(point.y), Self.height - Self.bottom, Self.top)
                )
            }
            var parts: [String] = []
            if kind == .lines {
                parts.append(
                    "<polyline class=\"line s\(index + 1)\" points=\"\(places.map { "\($0.0),\($0.1)" }.joined(separator: " "))\"/>")
            }
            for (place, words) in zip(places, series.words) {
                let look = kind == .lines ? "hit" : "dot"
                parts.append(
                    "<circle class=\"\(look) s\(index + 1)\" cx=\"\(place.0)\" cy=\"\(place.1)\" r=\"\(kind == .lines ? 6 : 4)\"><title>\(Self.escape(words))</title></circle>"
                )
            }
            return parts
        }
    }

    private func bars(_ y: PlotScale) -> [String] {
        guard let only = series.first else { return [] }
        let floor = Self.height - Self.bottom
        let step = (Self.width - Self.left - Self.right) / Double(only.points.count)
        let every = max(1, (only.points.count + 11) / 12)
        return only.points.enumerated().flatMap { index, point in
            let at = Self.left + Double(index) * step
            let top = Self.place(y.share(point.y), floor, Self.top)
            var parts = [
                "<rect class=\"bar s1\" x=\"\(Self.short(at + 1))\" y=\"\(top)\" width=\"\(Self.short(max(1, step - 2)))\" height=\"\(Self.short(floor - top))\" rx=\"2\"><title>\(Self.escape(only.words[index]))</title></rect>"
            ]
            if index % every == 0 {
                parts.append("<text class=\"x\" x=\"\(Self.short(at + step))\" y=\"\(floor + 16)\">\(barNames[index])</text>")
            }
            return parts
        }
    }

    private static func place(_ share: Double, _ from: Double, _ to: Double) -> Double { short(from + share * (to - from)) }
    private static func short(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
