internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

/// Text in sealed columns. A place is `table.column.row`, and a value opens nowhere else.
extension SealingKey {
    func seal(_ text: String, at place: String) -> Data {
        Data(SealedBox.seal(Array(text.utf8), with: self, at: place))
    }

    func seal(_ value: some Encodable, at place: String) throws -> Data {
        Data(SealedBox.seal(try JSON.encode(value, names: .asDeclared), with: self, at: place))
    }

    func openText(_ sealed: Data, at place: String) throws(StoreError) -> String {
        guard let text = String(validating: try openBytes(sealed, at: place), as: UTF8.self) else { throw .damaged(place: place) }
        return text
    }

    func open<T: Decodable>(_ sealed: Data, as type: T.Type, at place: String) throws(StoreError) -> T {
        let bytes = try openBytes(sealed, at: place)
        guard let value = try? JSON.decode(type, from: bytes, names: .asDeclared) else { throw .damaged(place: place) }
        return value
    }

    private func openBytes(_ sealed: Data, at place: String) throws(StoreError) -> [UInt8] {
        guard let bytes = SealedBox.open(Array(sealed), with: self, at: place) else { throw .damaged(place: place) }
        return bytes
    }
}
