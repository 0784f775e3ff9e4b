internal import Foundation
internal import Identity
internal import Wire

/// The keys of an open store.
///
/// The master key wraps the store's key and one key per user. These are random, so rotating the master key only rewraps them. The store's
/// key derives the key for shared data and the key for keyed hashes, by which rows are found without revealing identities.
struct Keychain: Sendable {
    /// All can unwrap. The first locks a new store.
    private(set) var masterKeys: [MasterKey]
    /// For data that belongs to no single user.
    let shared: SealingKey
    private let lookupKey: [UInt8]

    init(masterKeys: [MasterKey], storeKey: SealingKey) {
        self.masterKeys = masterKeys
        shared = storeKey.derived(for: "shared")
        lookupKey = storeKey.derived(for: "lookup").revealedBytes
    }

    /// A keyed hash (HMAC-SHA256). `purpose` separates kinds of text.
    func lookup(_ parts: String..., purpose: String) -> Data { lookup(parts, purpose: purpose) }

    func lookup(_ parts: [String], purpose: String) -> Data {
        var message = Array(purpose.utf8)
        for part in parts {
            message.append(0)
            message += String(part.utf8.count).utf8
            message.append(0)
            message += part.utf8
        }
        return Data(SHA2.hmac(of: message, key: lookupKey))
    }

    mutating func add(_ key: MasterKey) { if !masterKeys.contains(where: { $0.id == key.id }) { masterKeys.append(key) } }
}

// MARK: - One key in another

extension Keychain {
    private static let storeKeyLocation = "store_keys.sealed.store"

    /// - Throws: `wrongMasterKey`, `damaged`.
    static func open(in db: any SQLConnection, with masterKeys: [MasterKey]) throws -> Keychain {
        guard let row = try db.one("SELECT master_key, sealed FROM store_keys WHERE name = 'store'", []) else {
            throw StoreError.damaged(location: storeKeyLocation)
        }
        return Keychain(masterKeys: masterKeys, storeKey: try unwrap(row[1], wrappedWith: row[0], at: storeKeyLocation, masterKeys))
    }

    /// Creates the keys of a new store.
    static func make(in db: any SQLConnection, with masterKeys: [MasterKey]) throws {
        let sealed = wrap(SealingKey(), with: masterKeys[0], at: storeKeyLocation)
        _ = try db.execute("INSERT INTO store_keys VALUES ('store', ?, ?)", [masterKeys[0].id, sealed])
    }

    /// Wraps the key with the master key that currently wraps the store's, which may have been rotated.
    func makeUserKey(for user: UserID, in db: Transaction) throws -> SealingKey {
        let masterID = try db.value(String.self, "SELECT master_key FROM store_keys WHERE name = 'store'")
        guard let master = masterKeys.first(where: { $0.id == masterID }) else {
            throw StoreError.wrongMasterKey(neededID: masterID ?? "")
        }
        let key = SealingKey()
        try db.execute(
            "INSERT INTO user_keys VALUES (?, ?, ?)", user, master.id, Self.wrap(key, with: master, at: Self.userKeyLocation(user.text)))
        return key
    }

    /// - Throws: `wrongMasterKey`, `damaged`.
    func unwrap(_ sealed: Data, wrappedWith id: String, of user: UserID) throws -> SealingKey {
        try Self.unwrap(sealed, wrappedWith: id, at: Self.userKeyLocation(user.text), masterKeys)
    }

    /// Wraps every key with `new`, in the caller's transaction.
    func rewrapAll(with new: MasterKey, in db: Transaction) throws {
        for (table, column) in [("store_keys", "name"), ("user_keys", "user_id")] {
            for id in try db.values(String.self, "SELECT \(column) FROM \(table)") {
                let location = "\(table).sealed.\(id)"
                guard let row = try db.one("SELECT master_key, sealed FROM \(table) WHERE \(column) = ?", id) else { continue }
                let key = try Self.unwrap(row[1], wrappedWith: row[0], at: location, masterKeys)
                try db.execute(
                    "UPDATE \(table) SET master_key = ?, sealed = ? WHERE \(column) = ?",
                    new.id, Self.wrap(key, with: new, at: location), id)
            }
        }
    }

    private static func userKeyLocation(_ user: String) -> String { "user_keys.sealed.\(user)" }

    private static func wrap(_ key: SealingKey, with master: MasterKey, at location: String) -> Data {
        Data(SealedBox.seal(key.revealedBytes, with: master.key, at: location))
    }

    private static func unwrap(_ sealed: Data, wrappedWith id: String, at location: String, _ masterKeys: [MasterKey]) throws -> SealingKey
    {
        guard let master = masterKeys.first(where: { $0.id == id }) else { throw StoreError.wrongMasterKey(neededID: id) }
        guard let bytes = SealedBox.open(Array(sealed), with: master.key, at: location), let key = SealingKey(bytes: bytes) else {
            throw StoreError.damaged(location: location)
        }
        return key
    }
}

/// Encryption of columns. A value opens only at its location, `table.column.row`.
extension SealingKey {
    func seal(_ text: String, at location: String) -> Data { Data(SealedBox.seal(Array(text.utf8), with: self, at: location)) }

    func seal(_ value: some Encodable, at location: String) throws -> Data {
        Data(SealedBox.seal(try JSON.encode(value, names: .asDeclared), with: self, at: location))
    }

    func openText(_ sealed: Data, at location: String) throws(StoreError) -> String {
        guard let text = String(validating: try openBytes(sealed, at: location), as: UTF8.self) else { throw .damaged(location: location) }
        return text
    }

    func openText(ifPresent sealed: Data?, at location: String) throws(StoreError) -> String? {
        guard let sealed else { return nil }
        return try openText(sealed, at: location)
    }

    func open<T: Decodable>(_ sealed: Data, as type: T.Type, at location: String) throws(StoreError) -> T {
        let bytes = try openBytes(sealed, at: location)
        guard let value = try? JSON.decode(type, from: bytes, names: .asDeclared) else { throw .damaged(location: location) }
        return value
    }

    private func openBytes(_ sealed: Data, at location: String) throws(StoreError) -> [UInt8] {
        guard let bytes = SealedBox.open(Array(sealed), with: self, at: location) else { throw .damaged(location: location) }
        return bytes
    }
}

/// Decrypts texts of many rows that have one key, without allocating for each location (`table.column.row`).
struct SealedReader: ~Copyable {
    private var opener: SealedBoxOpener
    private var location: [UInt8] = []

    init(_ key: SealingKey) { opener = SealedBoxOpener(key) }

    /// Nil for NULL.
    ///
    /// - Parameter column: the table and column, with a trailing dot.
    /// - Throws: `damaged`.
    mutating func text(_ sealed: UnsafeRawBufferPointer?, at column: StaticString, _ row: SessionID) throws(StoreError) -> String? {
        guard let sealed else { return nil }
        begin(column, row)
        return try open(sealed)
    }

    /// - Parameter column: the table and column, with a trailing dot.
    /// - Throws: `damaged`.
    mutating func text(
        _ sealed: UnsafeRawBufferPointer, at column: StaticString, _ session: SessionID, _ turn: TurnID
    ) throws(StoreError) -> String {
        begin(column, session)
        location.append(UInt8(ascii: " "))
        turn.append(to: &location)
        return try open(sealed)
    }

    private mutating func begin(_ column: StaticString, _ row: SessionID) {
        location.removeAll(keepingCapacity: true)
        location += UnsafeBufferPointer(start: column.utf8Start, count: column.utf8CodeUnitCount)
        row.append(to: &location)
    }

    private mutating func open(_ sealed: UnsafeRawBufferPointer) throws(StoreError) -> String {
        let location = location
        guard let text = opener.openText(sealed.bytes, at: location.span.bytes) else {
            throw .damaged(location: String(decoding: location, as: UTF8.self))
        }
        return text
    }
}
