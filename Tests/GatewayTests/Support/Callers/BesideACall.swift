import Testing

/// Runs a suite serially against one gateway on which two bystanders talk all the while, and checks at the end that they lost nothing.
///
/// The gateway is `TestGateway.besideACall`. The bystanders do not change the counters that tests check.
struct BesideACall: SuiteTrait, TestScoping {
    var isRecursive: Bool { false }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void) async throws
    {
        let result = await Result { () async throws in try await run(function) }
        await TestGateway.allEnded()
        try result.get()
    }

    private func run(_ function: @concurrent @Sendable () async throws -> Void) async throws {
        let gateway = try TestGateway()
        let call = try await OwnThread.run { try BystanderCall(on: gateway) }
        try await TestGateway.$ofScene.withValue(gateway) { try await function() }
        let report = await OwnThread.run { call.finish() }
        #expect(report.isSound, "bystanders: \(report)")
    }
}

extension Trait where Self == BesideACall {
    static var besideACall: BesideACall { BesideACall() }
}

extension TestGateway {
    @TaskLocal static var ofScene: TestGateway?

    static var besideACall: TestGateway {
        get throws {
            guard let ofScene else { throw DidNotHappen(what: "the trait besideACall on this suite") }
            return ofScene
        }
    }
}
