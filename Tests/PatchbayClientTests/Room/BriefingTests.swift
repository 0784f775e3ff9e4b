import Backend
import Gateway
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct BriefingTests {
    @Test func helloBriefsTheAssistantAboutTheSession() async throws {
        let briefing = SessionBriefing(
            sessionId: "s", context: "phone", clientContext: "on the road",
            pastSummaries: [PastSummary(title: "Groceries", summary: "Apples were ordered.", endedAt: 1_700_000_000)])
        try await TestGateway.run(auditEvents: AuditEventQueue(briefing: { _ in briefing })) { gateway in
            let alice = try await gateway.join("alice")
            let guide = try await gateway.join("guide", kind: .agent)
            #expect(guide.hello.session == briefing)
            #expect(alice.hello.session == nil)
            await guide.leave()
            await alice.leave()
        }
    }
}
