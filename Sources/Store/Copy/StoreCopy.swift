internal import Foundation
package import Identity

/// Copies a store to another location, with the same engine or another one.
///
/// Keys and sealed values are copied as they are. The source is read in one snapshot, while no gateway can use it. The
/// destination is created completely or not at all. Only a few rows are in memory at a time.
package struct StoreCopy: Sendable {
    /// The progress of a copy.
    package enum Progress: Sendable, Hashable {
        case verifyingSource
        /// `rows` of the `total` of all tables have been copied; `table` is the current one.
        case copying(table: String, rows: Int, total: Int)
        case verifyingCopy
    }

    package struct Report: Sendable, Hashable, Codable {
        /// Rows by table.
        package var tables: [String: Int] = [:]
        /// The recordings that the store refers to. Their files are not copied.
        package var recordings = 0
        /// The result of verifying the source and the copy, which are equal; nil if they were not verified.
        package var verified: StoreReport?

        package var rows: Int { tables.values.reduce(0, +) }
    }

    let source: StoreLocation
    let destination: StoreLocation
    let masterKeys: [MasterKey]
    let isVerified: Bool

    /// - Parameters:
    ///   - destination: must not contain a store.
    ///   - masterKeys: must include the key that the source is encrypted with. The copy has the same key.
    ///   - isVerified: whether to verify source and copy, which takes longer than copying.
    package init(from source: StoreLocation, to destination: StoreLocation, masterKeys: [MasterKey], isVerified: Bool = true) {
        self.source = source
        self.destination = destination
        self.masterKeys = masterKeys
        self.isVerified = isVerified
    }

    /// Blocks the calling thread.
    ///
    /// - Parameter progress: called for each request to the destination. If it throws, the copy is abandoned.
    /// - Returns: with `verified` unclean if the source is damaged; then nothing was written.
    /// - Throws: before anything is written: `refused` if there is a store at the destination, or the source's schema is not this program's;
    ///   `missing`, `alreadyOpen`, `wrongMasterKey`, `fromTheFuture`; later: `full`, `damaged`, `failed`, also if the copy differs.
    package func run(progress: (Progress) throws -> Void = { _ in }) throws(StoreError) -> Report {
        do {
            let catalogue = try Catalogue()
            try checkVacant()
            return try reading { source, keychain in
                var report = Report()
                if isVerified {
                    try progress(.verifyingSource)
                    let verified = try Self.verify(source, keychain)
                    report.verified = verified
                    guard verified.isClean else { return report }
                }
                try writing(catalogue) { destination in
                    report.tables = try Self.copy(catalogue, from: source, to: destination, progress)
                    report.recordings = report.tables["recordings"] ?? 0
                    guard let expected = report.verified else { return }
                    try progress(.verifyingCopy)
                    let copy = try Self.verify(destination, Keychain.open(in: destination, with: masterKeys))
                    guard copy == expected else { throw StoreError.failed("the copy differs from its source: \(copy), not \(expected)") }
                }
                return report
            }
        } catch {
            throw PostgresDatabase.explained(error)
        }
    }

    private static func verify(_ connection: any SQLConnection, _ keychain: Keychain) throws -> StoreReport {
        let verification = Verification(Transaction(connection: connection, keychain: keychain))
        try verification.run()
        return verification.report
    }

    // MARK: Engines

    /// - Throws: `refused` if there is a store at the destination; `failed` with the reason if its server cannot be reached.
    package func checkVacant() throws(StoreError) {
        do {
            switch destination {
            case .directory(let path): try SQLiteDatabase.checkVacant(directory: path)
            case .database(let settings): try PostgresDatabase.checkVacant(settings)
            }
        } catch {
            throw PostgresDatabase.explained(error)
        }
    }

    private func reading<T>(_ body: (any CopyConnection, Keychain) throws -> T) throws -> T {
        switch source {
        case .directory(let path): try SQLiteDatabase.reading(directory: path, masterKeys, body)
        case .database(let settings): try PostgresDatabase.reading(settings, masterKeys, body)
        }
    }

    private func writing(_ catalogue: Catalogue, _ body: (any CopyConnection) throws -> Void) throws {
        switch destination {
        case .directory(let path): try SQLiteDatabase.writing(directory: path, body)
        case .database(let settings): try PostgresDatabase.writing(settings, catalogue, body)
        }
    }

    // MARK: Rows

    /// - Returns: the rows by table.
    private static func copy(
        _ catalogue: Catalogue, from source: any CopyConnection, to destination: any CopyConnection,
        _ progress: (Progress) throws -> Void
    ) throws -> [String: Int] {
        let counts = try catalogue.tables.map { try count($0, in: source) }
        let total = counts.reduce(0, +)
        var done = 0
        for (table, expected) in zip(catalogue.tables, counts) {
            // Migrations insert rows.
            _ = try destination.execute("DELETE FROM \(table.name)", [])
            var batch = RowBatch(of: table)
            try source.each(table.selection, []) { row in
                try batch.append(row)
                guard batch.isFull else { return }
                done += try batch.insert(into: destination)
                try progress(.copying(table: table.name, rows: done, total: total))
            }
            done += try batch.insert(into: destination)
            try progress(.copying(table: table.name, rows: done, total: total))
            if let column = table.identity {
                let largest: Int64 = try destination.one("SELECT coalesce(max(\"\(column)\"), 0) FROM \(table.name)", [])?[0] ?? 0
                let last = max(largest, try source.lastNumber(of: table.name, column))
                if last > 0 { try destination.setLastNumber(of: table.name, column, to: last) }
            }
            let copied = try count(table, in: destination)
            guard copied == expected else {
                throw StoreError.failed("the copy differs from its source: \(copied) rows of \(table.name), not \(expected)")
            }
        }
        return Dictionary(uniqueKeysWithValues: zip(catalogue.tables.map(\.name), counts))
    }

    private static func count(_ table: Catalogue.Table, in connection: any SQLConnection) throws -> Int {
        try connection.one("SELECT count(*) FROM \(table.name)", [])?[0] ?? 0
    }
}

/// The operations that a copy requires of an engine, in addition to SQL.
protocol CopyConnection: SQLConnection {
    /// The highest number that was assigned to a row of the table, even if the row was deleted; 0 if none is known.
    func lastNumber(of table: String, _ column: String) throws -> Int64
    func setLastNumber(of table: String, _ column: String, to number: Int64) throws
}

/// Rows that are inserted together.
private struct RowBatch {
    private let table: Catalogue.Table
    private let row: String
    private var values: [any SQLValue] = []
    private var bytes = 0

    init(of table: Catalogue.Table) {
        self.table = table
        row = "(" + Array(repeating: "?", count: table.columns.count).joined(separator: ", ") + ")"
    }

    private var count: Int { values.count / table.columns.count }

    var isFull: Bool { count == StoreLimits.rowsPerInsert || bytes >= StoreLimits.bytesPerInsert }

    /// - Throws: `damaged` if a value is not of the type of its column, which PostgreSQL refuses.
    mutating func append(_ row: Row) throws {
        for (index, column) in table.columns.enumerated() {
            do {
                switch column.type {
                case .integer: values.append(try row[index] as Int64?)
                case .real: values.append(try row[index] as Double?)
                case .text:
                    let text: String? = try row[index]
                    bytes += text?.utf8.count ?? 0
                    values.append(text)
                case .blob:
                    let blob: Data? = try row[index]
                    bytes += blob?.count ?? 0
                    values.append(blob)
                }
            } catch is StoreError {
                throw StoreError.damaged(location: "\(table.name).\(column.name)")
            }
        }
    }

    /// Inserts the rows in powers of two, so that an engine has few different statements to prepare, and empties the batch.
    ///
    /// - Returns: their number.
    mutating func insert(into destination: any SQLConnection) throws -> Int {
        let count = count
        var rest = values[...]
        while !rest.isEmpty {
            var rows = StoreLimits.rowsPerInsert
            while rows * table.columns.count > rest.count { rows /= 2 }
            let list = Array(repeating: row, count: rows).joined(separator: ", ")
            let next = rest.prefix(rows * table.columns.count)
            _ = try destination.execute("INSERT INTO \(table.name) (\(table.columnList)) VALUES \(list)", Array(next))
            rest.removeFirst(next.count)
        }
        values.removeAll(keepingCapacity: true)
        bytes = 0
        return count
    }
}
