/// Finds what was probably meant by a misspelled name.
enum Suggestion {
    /// - Returns: the known name with the fewest changes from `name`; nil if all need more than one, or more than one for three characters.
    static func nearest(to name: String, among known: [String]) -> String? {
        known.sorted().map { ($0, distance($0, name)) }.filter { $0.1 <= max(1, min(3, $0.0.count / 3)) }.min { $0.1 < $1.1 }?.0
    }

    /// The number of characters to insert, delete, replace or exchange with their neighbour (optimal string alignment distance).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var rows = [Array(0...right.count)]
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                row.append(min(rows[i][j + 1] + 1, row[j] + 1, replaced))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { row[j + 1] = min(row[j + 1], rows[i - 1][j - 1] + 1) }
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
