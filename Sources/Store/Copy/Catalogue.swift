internal import GRDB

/// The tables of the schema, read from an empty SQLite database with all migrations, so that a copy cannot miss one. The table of
/// nodes is excluded, because its rows concern the database and not the store.
struct Catalogue: Sendable {
    struct Column: Sendable, Hashable {
        let name: String
        let type: SQLType
    }

    struct Table: Sendable {
        let name: String
        let columns: [Column]
        /// The terms of an `ORDER BY` with the primary key, in which SQLite stores the rows; empty without a key.
        let order: [String]
        /// The column whose numbers the engine assigns, if any.
        let identity: String?
        /// Other tables that foreign keys of this one refer to.
        fileprivate let parents: Set<String>

        /// All columns, as in an `INSERT`.
        var columnList: String { columns.map { "\"\($0.name)\"" }.joined(separator: ", ") }

        /// Reads all rows, in the order in which SQLite stores them.
        var selection: String {
            "SELECT \(columnList) FROM \(name)" + (order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
        }
    }

    /// Each table follows the tables that it refers to.
    let tables: [Table]

    init(steps: [Schema.Step] = Schema.steps) throws {
        var rest = try DatabaseQueue().write { db in
            for step in steps { try db.execute(sql: step.sql) }
            return try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            ).filter { $0 != Nodes.table }.map { try Table($0, in: db) }
        }
        var tables: [Table] = []
        while !rest.isEmpty {
            let known = Set(tables.map(\.name))
            let ready = rest.filter { $0.parents.isSubset(of: known) }
            guard !ready.isEmpty else { throw StoreError.failed("tables of the schema refer to each other") }
            tables += ready
            rest.removeAll { $0.parents.isSubset(of: known) }
        }
        self.tables = tables
    }
}

extension Catalogue.Table {
    fileprivate init(_ name: String, in db: GRDB.Database) throws {
        self.name = name
        columns = try GRDB.Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_info(?) ORDER BY cid", arguments: [name]).map { row in
            Catalogue.Column(name: row[0], type: try Self.type(row[1]))
        }
        let key = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT x.name, x."desc" FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x
                WHERE l.origin = 'pk' AND x."key" = 1 ORDER BY x.seqno
                """, arguments: [name]
        ).map { row in "\"\(row[0] as String)\"" + (row[1] as Bool ? " DESC" : "") }
        // A primary key of one integer has no index of its own.
        let rowID = try String.fetchOne(db, sql: "SELECT name FROM pragma_table_info(?) WHERE pk = 1", arguments: [name])
        order = key.isEmpty ? rowID.map { ["\"\($0)\""] } ?? [] : key
        let definition = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [name])
        identity = definition?.contains("AUTOINCREMENT") == true ? rowID : nil
        parents = Set(try String.fetchAll(db, sql: "SELECT \"table\" FROM pragma_foreign_key_list(?)", arguments: [name])).subtracting([
            name
        ])
    }

    private static func type(_ name: String) throws -> SQLType {
        switch name {
        case "INTEGER": .integer
        case "REAL": .real
        case "TEXT": .text
        case "BLOB": .blob
        default: throw StoreError.failed("the schema has a column of the type \(name)")
        }
    }
}
