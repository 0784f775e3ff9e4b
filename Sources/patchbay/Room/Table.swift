import Foundation

/// A text table with columns as wide as their content.
struct Table {
    private var rows: [[String]]

    init(_ heads: String...) {
        rows = [heads]
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    var text: String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }.joined(separator: "  ")
                .trimmingSuffix { $0 == " " }
        }.joined(separator: "\n")
    }

    /// ISO 8601.
    static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension String {
    fileprivate func trimmingSuffix(while isMeant: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isMeant(last) { text.removeLast() }
        return text
    }
}
