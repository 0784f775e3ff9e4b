import Testing

@testable import TLSRecords

/// Secrets are overwritten when their owner is released. The memory belongs to the test, so it can be inspected afterwards.
struct TrafficSecretsTests {
    private func withStorage(_ count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Void) -> [UInt8] {
        let storage = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        storage.initialize(repeating: 0xAA)
        defer { storage.deallocate() }
        body(storage)
        return Array(storage)
    }

    @Test func secretBytesAreWipedWhenReleased() {
        let after = withStorage(48) { storage in
            let secret = SecretBytes(in: storage)
            #expect(secret.start[0] == 0xAA)
        }
        #expect(after == [UInt8](repeating: 0, count: 48))
    }

    @Test func trafficSecretAndIVAreWipedWhenReleased() {
        let after = withStorage(TrafficSecret.storageBytes) { storage in
            let source = SecretBytes(count: 32)
            for index in 0..<32 { source.start[index] = 0x55 }
            guard let secret = TrafficSecret(copying: source, of: .aes128GCM, in: SecretBytes(in: storage)) else { return }
            let isDerived28 = secret.deriveIV()
            #expect(isDerived28)
            #expect(storage[..<32].allSatisfy { $0 == 0x55 })
            #expect(storage[48..<60].contains { $0 != 0xAA }, "the IV was derived")
        }
        #expect(after == [UInt8](repeating: 0, count: TrafficSecret.storageBytes))
    }

    @Test func aCipherKeepsItsSecretsInWipedMemory() {
        let after = withStorage(TrafficSecret.storageBytes) { storage in
            let source = SecretBytes(count: 32)
            guard let secret = TrafficSecret(copying: source, of: .aes128GCM, in: SecretBytes(in: storage)) else { return }
            var cipher = RecordCipher(secret, .sealing, after: 0)
            let isUpdated = cipher?.update()
            #expect(isUpdated == true)
            #expect(storage[..<32].contains { $0 != 0 }, "the next secret is in the same memory")
        }
        #expect(after == [UInt8](repeating: 0, count: TrafficSecret.storageBytes))
    }
}
