internal import Foundation
internal import GRDB
internal import Identity

/// The keys of an open store.
///
/// The master key wraps a key of the store's own and one for each user; both are random, so that another master key means wrapping them anew and nothing
/// else. From the store's key come the one for webhooks and the one for keyed hashes, by which rows are found without telling whose they are.
struct Keychain: Sendable {
    /// All unwrap. The first is for a store that has none yet.
    private(set) var masterKeys: [MasterKey]
    /// For what belongs to no single user.
    let shared: SealingKey
    private let lookupKey: [UInt8]

    init(masterKeys: [MasterKey], storeKey: SealingKey) {
        self.masterKeys = masterKeys
        shared = storeKey.derived(for: "shared")
        lookupKey = storeKey.derived(for: "lookup").revealedBytes
    }

    /// A hash that nobody without the store's key can make. `purpose` keeps equal texts of two kinds apart.
    func lookup(_ parts: String..., purpose: String) -> [UInt8] {
        var message = Array(purpose.utf8)
        for part in parts {
            message.append(0)
            message += String(part.utf8.count).utf8
            message.append(0)
            message += part.utf8
        }
        return SHA2.hmac(of: message, key: lookupKey)
    }

    mutating func add(_ key: MasterKey) {
        if !masterKeys.contains(where: { $0.id == key.id }) { masterKeys.append(key) }
    }
}

// MARK: - One key in another

extension Keychain {
    private static let storeKeyPlace = "store_keys.sealed.store"

    /// - Throws: `wrongMasterKey`, `damaged`.
    static func open(in db: Database, with masterKeys: [MasterKey]) throws -> Keychain {
        guard let row = try Row.fetchOne(db, sql: "SELECT master_key, sealed FROM store_keys WHERE name = 'store'") else {
            throw StoreError.damaged(place: storeKeyPlace)
        }
        return Keychain(masterKeys: masterKeys, storeKey: try unwrap(row[1], wrappedWith: row[0], at: storeKeyPlace, masterKeys))
    }

    /// For a new store.
    static func make(in db: Database, with masterKeys: [MasterKey]) throws -> Keychain {
        let storeKey = SealingKey()
        try db.execute(
            sql: "INSERT INTO store_keys VALUES ('store', ?, ?)",
            arguments: [masterKeys[0].id, wrap(storeKey, with: masterKeys[0], at: storeKeyPlace)])
        return Keychain(masterKeys: masterKeys, storeKey: storeKey)
    }

    /// Wrapped with the master key that wraps the store's: between two commits that may have become another.
    func makeUserKey(for user: UserID, in db: Database) throws -> SealingKey {
        let masterID = try String.fetchOne(db, sql: "SELECT master_key FROM store_keys WHERE name = 'store'")
        guard let master = masterKeys.first(where: { $0.id == masterID }) else {
            throw StoreError.wrongMasterKey(neededID: masterID ?? "")
        }
        let key = SealingKey()
        try db.execute(
            sql: "INSERT INTO user_keys VALUES (?, ?, ?)",
            arguments: [user.text, master.id, Self.wrap(key, with: master, at: Self.userKeyPlace(user.text))])
        return key
    }

    /// - Throws: `notFound` if there is no such user, or none any more.
    func userKey(of user: UserID, in db: Database) throws -> SealingKey {
        let statement = try db.cachedStatement(sql: "SELECT master_key, sealed FROM user_keys WHERE user_id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [user.text]) else { throw StoreError.notFound }
        return try Self.unwrap(row[1], wrappedWith: row[0], at: Self.userKeyPlace(user.text), masterKeys)
    }

    /// Wraps every key with `new`, in the caller's transaction.
    func rewrapAll(with new: MasterKey, in db: Database) throws {
        let keys = [("store_keys", "name"), ("user_keys", "user_id")]
        for (table, column) in keys {
            for id in try String.fetchAll(db, sql: "SELECT \(column) FROM \(table)") {
                let place = "\(table).sealed.\(id)"
                guard let row = try Row.fetchOne(db, sql: "SELECT master_key, sealed FROM \(table) WHERE \(column) = ?", arguments: [id])
                else {
                    continue
                }
                let key = try Self.unwrap(row[1], wrappedWith: row[0], at: place, masterKeys)
                try db.execute(
                    sql: "UPDATE \(table) SET master_key = ?, sealed = ? WHERE \(column) = ?",
                    arguments: [new.id, Self.wrap(key, with: new, at: place), id])
            }
        }
    }

    private static func userKeyPlace(_ user: String) -> String { "user_keys.sealed.\(user)" }

    private static func wrap(_ key: SealingKey, with master: MasterKey, at place: String) -> Data {
        Data(SealedBox.seal(key.revealedBytes, with: master.key, at: place))
    }

    private static func unwrap(_ sealed: Data, wrappedWith id: String, at place: String, _ masterKeys: [MasterKey]) throws -> SealingKey {
        guard let master = masterKeys.first(where: { $0.id == id }) else { throw StoreError.wrongMasterKey(neededID: id) }
        guard let bytes = SealedBox.open(Array(sealed), with: master.key, at: place), let key = SealingKey(bytes: bytes) else {
            throw StoreError.damaged(place: place)
        }
        return key
    }
}
