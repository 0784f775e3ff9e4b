#if canImport(SwiftUI) && canImport(CarPlay) && os(iOS)
    import CopilotModel
    import PatchbayClient
    import SwiftUI

    /// Past sessions, newest first. Shown only on the phone.
    struct SessionsListScreen: View {
        let copilot: Copilot

        var body: some View {
            List {
                ForEach(copilot.sessions) { session in
                    NavigationLink {
                        SessionDetailScreen(copilot: copilot, id: session.id)
                    } label: {
                        SessionRow(session: session)
                    }
                    .swipeActions { Button("Delete", role: .destructive) { Task { await copilot.delete(session.id) } } }
                }
                if copilot.hasMoreSessions { ProgressView().task { await copilot.loadMore() } }
                if let problem = copilot.problem { Text(problem).foregroundStyle(.red) }
            }
            .overlay {
                if copilot.sessions.isEmpty, copilot.problem == nil, !copilot.isBusy { Text(Texts.noSessions).foregroundStyle(.secondary) }
            }
            .navigationTitle("Sessions")
            .refreshable { await copilot.refresh() }
            .task { await copilot.refresh() }
        }
    }

    private struct SessionRow: View {
        let session: Sessions.Line

        var body: some View {
            VStack(alignment: .leading) {
                Text(session.title.isEmpty ? "Session" : session.title).font(.headline)
                Text(session.startedAt.formatted(date: .abbreviated, time: .shortened)).font(.caption).foregroundStyle(.secondary)
                if !session.summarySnippet.isEmpty { Text(session.summarySnippet).lineLimit(2) }
            }
        }
    }

    struct SessionDetailScreen: View {
        let copilot: Copilot
        let id: String
        @Environment(\.dismiss) private var dismiss

        var body: some View {
            ScrollView {
                if let detail = copilot.detail, detail.session.id == id {
                    SessionView(screen: SessionScreen(detail)).padding()
                } else if let problem = copilot.problem {
                    Text(problem).foregroundStyle(.red)
                } else {
                    ProgressView()
                }
            }
            .toolbar {
                Button("Delete", systemImage: "trash", role: .destructive) {
                    Task {
                        await copilot.delete(id)
                        dismiss()
                    }
                }
            }
            .refreshable { await copilot.open(id) }
            .task { await copilot.open(id) }
        }
    }

    private struct SessionView: View {
        let screen: SessionScreen

        var body: some View {
            VStack(alignment: .leading, spacing: 12) {
                Text(screen.title).font(.title2).bold()
                Text(screen.summary)
                ForEach(screen.actionItems, id: \.self) { Label($0, systemImage: "checkmark.circle") }
                if !screen.tags.isEmpty { Text(screen.tags.joined(separator: " · ")).font(.caption).foregroundStyle(.secondary) }
                ForEach(screen.turns) { turn in
                    Text(turn.text)
                        .padding(10)
                        .background(turn.speaker == .user ? Color.accentColor.opacity(0.2) : Color.secondary.opacity(0.15))
                        .clipShape(RoundedRectangle(cornerRadius: 14))
                        .frame(maxWidth: .infinity, alignment: turn.speaker == .user ? .trailing : .leading)
                }
            }
        }
    }
#endif
